// gallery.ts - pictures of this visit; choosing one brings its settings back.
import { get, make } from './dom';
import type { Request } from './pipeline';

const MOST = 48;

export function addToGallery(canvas: HTMLCanvasElement, request: Request, onChoose: (request: Request) => void): void {
  const list = get<HTMLUListElement>('gallery');
  const words = `${request.prompt}, seed ${request.seed}, ${request.steps} steps, guidance ${request.guidance}`;
  const url = canvas.toDataURL('image/png');
  const name = `${request.prompt.replace(/[^a-z0-9]+/gi, '-')}-${request.seed}.png`;
  const again = make('button', { type: 'button', title: `Use these settings: ${words}` },
    make('img', { src: url, alt: words, width: '64', height: '64' }));
  again.addEventListener('click', () => onChoose(request));
  list.prepend(make('li', {}, again, make('a', { href: url, download: name, 'aria-label': `Save ${words}` }, request.prompt)));
  while (list.children.length > MOST) list.lastElementChild!.remove();
  get('gallery-section').hidden = false;
}
