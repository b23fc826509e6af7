// theme.ts - light or dark: the system's choice until the button says otherwise.
import { get } from './dom';

export function startTheme(): void {
  const button = get<HTMLButtonElement>('theme');
  const system = matchMedia('(prefers-color-scheme: dark)');
  const isDark = (): boolean => (document.documentElement.dataset.theme ?? (system.matches ? 'dark' : 'light')) === 'dark';
  // The button says what it does, not what is.
  const show = (): void => {
    button.textContent = isDark() ? 'Light' : 'Dark';
    button.setAttribute('aria-label', `Switch to ${isDark() ? 'light' : 'dark'} colours`);
  };
  button.addEventListener('click', () => {
    const theme = isDark() ? 'light' : 'dark';
    document.documentElement.dataset.theme = theme;
    localStorage.setItem('theme', theme);
    show();
  });
  system.addEventListener('change', show);
  show();
}
