// dom.ts - elements by name and elements from text.

export function get<T extends HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element as T;
}

type Attributes = Record<string, string>;

/** An element with attributes and children; text is always text, never markup. */
export function make<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {},
  ...children: (Node | string)[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function save(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  make('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
