/** Documents of these types are text that can be read as it is. */
const textDocuments = {
  'text/plain': 'plain text',
  'text/markdown': 'Markdown',
  'text/html': 'HTML',
  'text/csv': 'CSV',
  'text/tab-separated-values': 'TSV',
  'application/json': 'JSON',
  'application/yaml': 'YAML',
  'application/xml': 'XML',
  'application/xhtml+xml': 'XHTML',
} as const;

/** The text of documents of these types must be extracted. */
const formattedDocuments = {
  'application/pdf': 'PDF',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'DOCX',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'XLSX',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'PPTX',
  'application/epub+zip': 'EPUB',
  'message/rfc822': 'EML',
  'application/rtf': 'RTF',
} as const;

const documents = { ...textDocuments, ...formattedDocuments };

export type DocumentType = keyof typeof documents;

const listed = (names: readonly string[]) => `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;

/** For error messages. */
export const documentFormats = listed(Object.values(documents));
export const formattedFormats = listed(Object.values(formattedDocuments));

/** Whether the knowledge base can read a document of this type. */
export function isDocumentType(type: string): type is DocumentType {
  return Object.hasOwn(documents, type);
}

export function isFormattedDocument(type: string): boolean {
  return Object.hasOwn(formattedDocuments, type);
}
