import { describe, expect, test } from '@jest/globals';
import { decodeDeclared, decodeText, withoutControls } from '../src/base/encodings.js';
import { verifies } from './support/verifies.js';

/** The same texts in encodings that TextEncoder cannot write. */
const encoded: [charset: string, text: string, base64: string][] = [
  ['windows-1252', 'Name;Größe;Preis\nMüller;groß;3,50 €\n', 'TmFtZTtHcvbfZTtQcmVpcwpN/GxsZXI7Z3Jv3zszLDUwIIAK'],
  ['windows-1250', 'Zoë Müller', 'Wm/rIE38bGxlcg=='],
  [
    'windows-1252',
    'nombre,ciudad\nJosé Núñez,Málaga\nBegoña,A Coruña\n',
    'bm9tYnJlLGNpdWRhZApKb3PpIE768WV6LE3hbGFnYQpCZWdv8WEsQSBDb3J18WEK',
  ],
  ['windows-1252', 'C’est déjà l’été – bientôt', 'Q5Jlc3QgZOlq4CBskul06SCWIGJpZW509HQ='],
  ['windows-1252', 'Ærø Øl Århus smørrebrød', 'xnL4INhsIMVyaHVzIHNt+HJyZWJy+GQ='],
  ['windows-1252', 'perché così è più città', 'cGVyY2jpIGNvc+wg6CBwafkgY2l0dOA='],
  ['windows-1250', 'Příliš žluťoučký kůň úpěl ďábelské ódy', 'UPjtbGmaIJ5sdZ1vdehr/SBr+fIg+nDsbCDv4WJlbHNr6SDzZHk='],
  ['windows-1250', 'Zażółć gęślą jaźń, Łódź i Kraków', 'WmG/87PmIGfqnGy5IGphn/EsIKPzZJ8gaSBLcmFr83c='],
  ['windows-1251', 'Имя;Город\nИван;Москва\n', 'yOz/O8Pu8O7kCsji4O07zO7x6uLgCg=='],
  ['windows-1251', 'Договор поставки № 5 от 12 мая', 'xO7j7uLu8CDv7vHy4OLq6CC5IDUg7vIgMTIg7OD/'],
  ['koi8-r', 'Привет, мир! Это обычный русский текст.', '8NLJ18XULCDNydIhIPzUzyDPwtneztnKINLV09PLycog1MXL09Qu'],
  [
    'windows-1253',
    'Καλημέρα κόσμε, η Αθήνα είναι η πρωτεύουσα',
    'yuHr5+zd8eEg6vzz7OUsIOcgweje7eEg5d/t4ekg5yDw8fn05f3v9fPh',
  ],
  [
    'windows-1254',
    "İstanbul'da güneşli bir gün, çocuklar şarkı söylüyor",
    '3XN0YW5idWwnZGEgZ/xuZf5saSBiaXIgZ/xuLCDnb2N1a2xhciD+YXJr/SBz9nls/Hlvcg==',
  ],
  ['windows-1255', 'שלום עולם, ירושלים היא עיר הבירה', '+ezl7SDy5eztLCDp+OX57OntIOTp4CDy6fgg5OHp+OQ='],
  ['windows-1256', 'مرحبا بالعالم، القاهرة عاصمة مصر', '49HNyMcgyMfh2sfh46Egx+Hex+XRySDax9XjySDj1dE='],
  ['windows-874', 'สวัสดีชาวโลก กรุงเทพเป็นเมืองหลวง', 'ysfRyrTVqtLH4sWhIKHD2Kfgt77gu+e54MHXzafLxcen'],
  ['shift_jis', '名前,都市\n田中太郎,東京\n', 'lryRTyyTc45zCpNjkoaRvphZLJOMi54K'],
  ['shift_jis', 'これは日本語の文章です。東京は首都です。', 'grGC6oLNk/qWe4zqgsyVto/NgsWCt4FCk4yLnoLNjvGTc4LFgreBQg=='],
  ['shift_jis', '売上データ', 'lISP44NmgVuDXg=='],
  ['euc-jp', '名前,住所\n山田はなこ,とうきょう\n', 'zL7BsCy9u73qCruzxcSkz6TKpLMspMikpqStpOekpgo='],
  ['euc-jp', 'これは日本語の文章です。東京は首都です。', 'pLOk7KTPxvzL3LjspM7KuL7PpMekuaGjxey1/qTPvPPF1KTHpLmhow=='],
  ['iso-2022-jp', 'これは日本語の文章です。', 'GyRCJDMkbCRPRnxLXDhsJE5KOD5PJEckOSEjGyhC'],
  ['gb18030', '姓名,城市\n张三,北京\n', '0NXD+yyzx8rQCtXFyP0ssbG+qQo='],
  ['gb18030', '这是一段中文文本，北京是中国的首都。', '1eLKx9K7ts7W0M7EzsSxvqOssbG+qcrH1tC5+rXEyte2vKGj'],
  ['big5', '姓名,城市\n張三,台北\n', 'qW2mVyyrsKWrCrFppFQspXilXwo='],
  ['big5', '這是一段中文文字，台北是首都。', 's2+sT6RArHGkpKTlpOWmcqFBpXilX6xPrbqzo6FD'],
  ['euc-kr', '이름,도시\n김철수,서울\n', 'wMy4pyy1tb3DCrHow7a89iy8rb/vCg=='],
  [
    'euc-kr',
    '이것은 한국어 문장입니다. 서울은 수도입니다.',
    'wMywzcC6IMfRsbm+7iC5rsDlwNS0z7TZLiC8rb/vwLogvPa1tcDUtM+02S4=',
  ],
  ['utf-16le', 'name,city\nAnn,Oslo\n', 'bgBhAG0AZQAsAGMAaQB0AHkACgBBAG4AbgAsAE8AcwBsAG8ACgA='],
  ['utf-16le', '名前,都市\n田中,東京\n', 'DVRNUiwA/ZACXgoAMHUtTiwAcWesTgoA'],
  ['utf-16be', 'name,city\nAnn,Oslo\n', 'AG4AYQBtAGUALABjAGkAdAB5AAoAQQBuAG4ALABPAHMAbABvAAo='],
  ['utf-16be', 'Привет мир', 'BB8EQAQ4BDIENQRCACAEPAQ4BEA='],
];

describe('decodeText', () => {
  test.each(encoded)('detects %s: %j', async (charset, text, base64) => {
    verifies('knowledge-base.encodings');
    const decoded = await decodeText(Buffer.from(base64, 'base64'));
    expect([decoded?.text, decoded?.charset]).toEqual([text, charset]);
  });

  test.each<[string, Buffer, string, string]>([
    ['UTF-8', Buffer.from('Größe'), 'Größe', 'utf-8'],
    ['UTF-8 with a mark', Buffer.from('\uFEFFGröße'), 'Größe', 'utf-8'],
    ['UTF-16 with a mark', Buffer.from('\uFEFFGröße', 'utf16le'), 'Größe', 'utf-16le'],
    ['UTF-16 with a mark, big endian', Buffer.from('\uFEFFGröße', 'utf16le').swap16(), 'Größe', 'utf-16be'],
    [
      'HTML that names its charset',
      Buffer.from('<meta charset="windows-1251"><p>\xcf\xf0\xe8', 'latin1'),
      '<meta charset="windows-1251"><p>При',
      'windows-1251',
    ],
    [
      'HTML that names its charset in a content type',
      Buffer.from('<meta http-equiv=content-type content="text/html; charset=iso-8859-2">\xb1', 'latin1'),
      '<meta http-equiv=content-type content="text/html; charset=iso-8859-2">ą',
      'iso-8859-2',
    ],
    [
      'XML that names its encoding',
      Buffer.from('<?xml version="1.0" encoding="ISO-8859-15"?><a>\xa4</a>', 'latin1'),
      '<?xml version="1.0" encoding="ISO-8859-15"?><a>€</a>',
      'iso-8859-15',
    ],
    [
      'XML that names an encoding that it does not have',
      Buffer.from('<?xml version="1.0" encoding="UTF-16"?><a>ü</a>'),
      '<?xml version="1.0" encoding="UTF-16"?><a>ü</a>',
      'utf-8',
    ],
    [
      'a log with a NUL',
      Buffer.from('2026-11-28 started\0 12 workers\n'),
      '2026-11-28 started\0 12 workers\n',
      'utf-8',
    ],
    [
      'a log with colours in windows-1252',
      Buffer.from('\x1B[31mred\x1B[0m Gr\xf6\xdfe', 'latin1'),
      '\x1B[31mred\x1B[0m Größe',
      'windows-1252',
    ],
    [
      'punctuation of windows-1252',
      Buffer.from('5 \x80 \x96 \x93Zitat\x94 f\xfcr M\xfcller', 'latin1'),
      '5 € – “Zitat” für Müller',
      'windows-1252',
    ],
  ])('decodes %s', async (_, bytes, text, charset) => {
    verifies('knowledge-base.encodings');
    expect(await decodeText(bytes)).toEqual({ text, charset });
  });

  test.each<[string, Buffer]>([
    ['a broken mark', Buffer.from([0xff, 0xfe, 0x41])],
    ['control characters', Buffer.from([1, 2, 3, 0, 255])],
    ['a deflated stream', Buffer.from('789c4bcacf4f4a2c02000a6602a10000ff00fe8110d09d', 'hex')],
    ['numbers of 32 bits', Buffer.from(Uint32Array.from({ length: 500 }, (_, at) => at * 7919).buffer)],
    ['floating point numbers', Buffer.from(Float64Array.from({ length: 500 }, (_, at) => at * 1.1).buffer)],
  ])('refuses bytes that are not text: %s', async (_, bytes) => {
    verifies('knowledge-base.encodings');
    expect(await decodeText(bytes)).toBeUndefined();
  });

  test('decodes the start of a text that ends within a character', async () => {
    expect(await decodeText(Buffer.from('aü').subarray(0, 2), { isWhole: false })).toEqual({
      text: 'a',
      charset: 'utf-8',
    });
  });
});

test('a named charset is used only if the bytes are valid in it', () => {
  const decoded = (bytes: Buffer, charset: string) => decodeDeclared(bytes, { charset });
  expect(decoded(Buffer.from([0x8c, 0xbb]), 'shift_jis')).toEqual({ text: '現', charset: 'shift_jis' });
  expect(decoded(Buffer.from('ü'), 'x-unknown')).toEqual({ text: 'ü', charset: 'utf-8' });
  expect(decoded(Buffer.from('\uFEFFü'), 'shift_jis')).toEqual({ text: 'ü', charset: 'utf-8' });
  expect(decoded(Buffer.from([0xff, 0xff, 0x80]), 'euc-jp')).toBeUndefined();
});

test('control characters and escape sequences of terminals are removed, and lines are kept', () => {
  verifies('knowledge-base.encodings');
  expect(withoutControls('\x1B[1;31mred\x1B[0m\x1B(B ok\x1B]0;title\x07\0!\r\ntab\there\fpage\rend\x1B')).toBe(
    'red ok!\ntab\there\npage\nend',
  );
});
