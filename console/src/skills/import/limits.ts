/** A document of an API with hundreds of operations fits. */
export const maxImportedLength = 4_000_000;
export const maxCurlLength = 100_000;
export const maxListedOperations = 500;
export const maxFields = 100;
/** How many references and parts of a schema are followed, one within the other. */
export const maxDepth = 20;
/** The API accepts longer names and descriptions, but nobody reads them. */
const maxNameLength = 200;
const maxDescriptionLength = 1000;

export const nameOf = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, maxNameLength);
export const descriptionOf = (text: string): string => text.trim().slice(0, maxDescriptionLength);
