import { keptInBrowser } from './kept.js';

export const themes = { system: 'As the system', light: 'Light', dark: 'Dark' } as const;
export type Theme = keyof typeof themes;

const key = 'theme';

/** The theme that the person has chosen in this browser. */
export function storedTheme(): Theme {
  const stored = keptInBrowser.read(key) ?? '';
  return Object.hasOwn(themes, stored) ? (stored as Theme) : 'system';
}

export function storeTheme(theme: Theme): void {
  keptInBrowser.keep(key, theme === 'system' ? undefined : theme);
  applyTheme(theme);
}

export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
