/** The first that occurs in a user agent names it, because browsers also name the others. */
const browsers = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(HeadlessChrome|Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const;
const systems = [
  [/\b(iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
] as const;

/** Names the program of a sign-in for people, for example `Firefox on Windows`. */
export function deviceOf(userAgent: string | null): string {
  if (userAgent === null || userAgent.trim() === '') return 'Unknown program';
  const [browser, system] = [browsers, systems].map((kinds) => kinds.find(([sign]) => sign.test(userAgent))?.[1]);
  // The name before the version, such as `python-httpx`.
  if (browser === undefined) return userAgent.split(/[/\s]/)[0] ?? userAgent;
  return system === undefined ? browser : `${browser} on ${system}`;
}
