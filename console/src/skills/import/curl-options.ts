/** An option of a curl line by the name of what it does. */
export interface CurlOption {
  name: Meaning | 'unknown';
  value: string;
}

type Meaning =
  | 'url'
  | 'request'
  | 'head'
  | 'get'
  | 'header'
  | 'json'
  | 'data'
  | 'data-urlencode'
  | 'form'
  /** Who calls, which a connector knows. */
  | 'credentials'
  /** How curl works, which has no meaning for an action. */
  | 'nothing';

/** Options that a value follows. */
const withValue: Readonly<Record<string, Meaning>> = {
  ...{
    '--url': 'url',
    '-X': 'request',
    '--request': 'request',
    '-H': 'header',
    '--header': 'header',
    '--json': 'json',
  },
  ...{ '-d': 'data', '--data': 'data', '--data-raw': 'data', '--data-binary': 'data', '--data-ascii': 'data' },
  ...{ '--data-urlencode': 'data-urlencode', '-F': 'form', '--form': 'form', '--form-string': 'form' },
  ...{ '-u': 'credentials', '--user': 'credentials', '-b': 'credentials', '--cookie': 'credentials' },
  ...{ '--oauth2-bearer': 'credentials', '-E': 'credentials', '--cert': 'credentials', '--key': 'credentials' },
  ...{ '--pass': 'credentials', '-U': 'credentials', '--proxy-user': 'credentials', '--netrc-file': 'credentials' },
  ...{ '--aws-sigv4': 'credentials', '--delegation': 'nothing', '-x': 'nothing', '--proxy': 'nothing' },
  ...{ '-A': 'nothing', '--user-agent': 'nothing', '-e': 'nothing', '--referer': 'nothing', '-o': 'nothing' },
  ...{ '--output': 'nothing', '-w': 'nothing', '--write-out': 'nothing', '-m': 'nothing', '--max-time': 'nothing' },
  ...{ '--connect-timeout': 'nothing', '--retry': 'nothing', '--retry-delay': 'nothing', '--max-redirs': 'nothing' },
  ...{ '-c': 'nothing', '--cookie-jar': 'nothing', '--cacert': 'nothing', '--resolve': 'nothing', '-D': 'nothing' },
  ...{
    '--dump-header': 'nothing',
    '-y': 'nothing',
    '-Y': 'nothing',
    '--limit-rate': 'nothing',
    '--interface': 'nothing',
  },
};

/** Options without a value. */
const alone: Readonly<Record<string, Meaning>> = {
  ...{ '-G': 'get', '--get': 'get', '-I': 'head', '--head': 'head', '-n': 'credentials', '--netrc': 'credentials' },
  ...{ '-s': 'nothing', '--silent': 'nothing', '-S': 'nothing', '--show-error': 'nothing', '-L': 'nothing' },
  ...{ '--location': 'nothing', '-k': 'nothing', '--insecure': 'nothing', '-v': 'nothing', '--verbose': 'nothing' },
  ...{ '-i': 'nothing', '--include': 'nothing', '-f': 'nothing', '--fail': 'nothing', '--compressed': 'nothing' },
  ...{ '-N': 'nothing', '--no-buffer': 'nothing', '-g': 'nothing', '--globoff': 'nothing', '-#': 'nothing' },
  ...{ '--fail-with-body': 'nothing', '--http1.1': 'nothing', '--http2': 'nothing', '-4': 'nothing', '-6': 'nothing' },
  ...{
    '-O': 'nothing',
    '-J': 'nothing',
    '--progress-bar': 'nothing',
    '--no-progress-meter': 'nothing',
    '-0': 'nothing',
  },
};

/** Returns the options of a line in their order. A word that belongs to no option is an address. */
export function optionsOf(words: readonly string[]): CurlOption[] {
  const found: CurlOption[] = [];
  const open = [...words];
  for (let word = open.shift(); word !== undefined; word = open.shift()) {
    if (!word.startsWith('-') || word === '-') found.push({ name: 'url', value: word });
    else if (word.startsWith('--')) found.push(longOption(word, open));
    else found.push(...shortOptions(word, open));
  }
  return found;
}

const own = (table: Readonly<Record<string, Meaning>>, name: string) =>
  Object.hasOwn(table, name) ? table[name] : undefined;

function longOption(word: string, open: string[]): CurlOption {
  const name = own(withValue, word);
  if (name !== undefined) return { name, value: open.shift() ?? '' };
  // Only the name is told: what follows "=" can be a secret.
  return { name: own(alone, word) ?? 'unknown', value: word.split('=')[0] ?? '' };
}

/** `-sXPOST` is `-s -X POST`. */
function shortOptions(word: string, open: string[]): CurlOption[] {
  const found: CurlOption[] = [];
  for (let at = 1; at < word.length; at += 1) {
    const option = `-${word[at] ?? ''}`;
    const name = own(withValue, option);
    if (name !== undefined) return [...found, { name, value: word.slice(at + 1) || (open.shift() ?? '') }];
    found.push({ name: own(alone, option) ?? 'unknown', value: option });
  }
  return found;
}
