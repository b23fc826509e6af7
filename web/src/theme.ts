// theme.ts - light or dark: the system's choice until the button says otherwise.
import { get } from './dom';

export function startTheme(): void {
  const button = get<HTMLButtonElement>('theme');
  const system = matchMedia('(prefers-color-scheme: dark)');
  const isDark = (): boolean => (document.documentElement.dataset.theme ?? (system.matches ? 'dark' : 'light')) === 'dark';
  const show = (): void => button.setAttribute('aria-pressed', String(isDark()));
  button.addEventListener('click', () => {
    const theme = isDark() ? 'light' : 'dark';
    document.documentElement.dataset.theme = theme;
    localStorage.setItem('theme', theme);
    show();
  });
  system.addEventListener('change', show);
  show();
}
