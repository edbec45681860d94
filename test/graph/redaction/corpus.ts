/** Texts that must not leave as they are, by what is found in them; each holds nothing else. */
export const personal: Record<string, readonly string[]> = {
  email: [
    'jane@example.com', "Write to Jane.O'Neil+x@mail.example.co.uk today", 'jane (at) example (dot) com', 'jane%40example.com',
    'ｊａｎｅ＠example.com', 'ja\u200bne@exam\u200bple.com', 'müller@bücher.de', 'mailto:jane@example.com?subject=x',
  ],
  phone: [
    '+49 30 901820', '+1 555 123 4567', '+1-202-555-0173', '+442079460958', '0049 30 901820', '(555) 123-4567', '555-123-4567',
    '212.555.2368', '020 7183 8750', '02071838750', '06 12 34 56 78', '0612345678', '030/901820', 'Tel.: 901820', 'call 5551234567',
    '+33 (0)6 12 34 56 78', '0171 1234567',
  ],
  card: [
    '4111 1111 1111 1111', '4111-1111-1111-1111', '4111111111111111', 'card 378282246310005 exp', '5555.5555.5555.4444',
    'number 12345 4111 1111 1111 1111 777', '4111\u00a01111\u00a01111\u00a01111', '４１１１１１１１１１１１１１１１', '41111111 11111111', 'card: 4111111111111111.',
  ],
  iban: ['DE89370400440532013000', 'DE89 3704 0044 0532 0130 00 and more', 'gb29 nwbk 6016 1331 9268 19', 'IBAN:FR1420041010050500013M02606', 'NL91ABNA0417164300'],
  national_id: [
    '123-45-6789', 'SSN 123456789', '078-05-1120', 'AB 12 34 56 C', 'AB123456C', '529.982.247-25', '12345678Z', 'X1234567L', 'RSSMRA85T10A562S',
    '1 85 05 78 006 084 91', '756.1234.5678.97', 'passport no. C01X00T47', '131052-308T', 'national id: 85073003328', 'PESEL 44051401359',
  ],
  // Put together here, so that no scanner takes this file for a leak.
  secret: [
    ['svc', 'sk', 'aB3'.repeat(14)].join('_'), ['svc', 'srt', 'abcdefghijklmnop'].join('_'),
    ['eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9', 'eyJzdWIiOiIxMjM0NTY3ODkwIn0', 'dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U'].join('.'),
    `Bearer ${'x9'.repeat(20)}`, ['AKIA', 'Q3EGRZL5ZJ3VXWQ2'].join(''), ['AKIA', 'IOSFODNN7EXAMPLE'].join(''),
    ['ghp', 'wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx'].join('_'), ['-----BEGIN RSA', 'PRIVATE KEY-----\nMIIEpAIB\n-----END RSA', 'PRIVATE KEY-----'].join(' '),
    'password=hunter2hunter2', 'https://user:passw0rdX1@example.com/x', `aws_secret_access_key = ${'wJalrXUtnFEMI/K7MDENG/'}bPxRfiCYzzzzzzKEY1`,
    ['xoxb', '123456789012', '1234567890123', 'abcdefghijklmnopqrstuvwx'].join('-'), ['sk', 'live', '4eC39HqLyjWDarjtT1zdp7dc'].join('_'),
  ],
};

/** Texts of other kinds, which must leave letter by letter. */
export const ordinary: readonly string[] = [
  'The quick brown fox jumps over 12 dogs.', '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10', '12345678-1234-4234-8234-123456789012',
  '2024-11-21T12:30:45.123Z', '2024-11-21 12:30:45+01:00', '05.06.2024 07:30:11', '01-02-2024 10:00', '12/31/2024', '2024-11', '20241121T123045Z',
  'price 1234567.89', 'EUR 1,234,567.89', '$12,500.00', '3000000 rows in 45 minutes', 'GBP 100', 'ca 1 000 000',
  'version 10.2.3', 'v1.2.3.4', '10.0.0.1', '192.168.100.200', 'npm i foo@1.2.3', '@types/node', 'Q3 2024',
  'order 20241121001', 'ORD-2024-000123', 'INV-20241121-0042', 'SKU-0012345', 'Customer 000123', 'order number 0000123456', 'lot 123456789', 'HX-1234-5678', 'ticket 4111',
  '1732147200', '1732147200123', '1732147200123456789', '1234567890', 'epoch 1763683200.125', 'ID 9007199254740991', 'ISBN 978-3-16-148410-0', '3.14159265358979',
  'room 101-102-103', '10-20-30-40', 'page 123 of 4567', 'https://example.com/a/b/c?x=1&y=2', 'src/graph/redaction/redactor.ts',
  'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', 'commit 33b65e1', 'a1b2c3d4e5f6a7b8c9d0e1f2', 'ABC123', 'AB12CD34', 'DE12 is a highway',
  'phones sold: 120000', 'We called 20 people in 2024', 'the token is needed', 'password policy', 'call me maybe', 'tel aviv', 'Fr 12.05.',
  'Revenue 2019 2020 2021 2022 2023', '1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16', '100 200 300', 'A4 paper 210 x 297', '1,2,3', '12:30:45',
  'latitude 52.520008 longitude 13.404954', '52.520008, 13.404954', '$project_id', 'MATCH (n) WHERE n.project_id = $project_id RETURN n', 'ﬁne ligature ½',
];
