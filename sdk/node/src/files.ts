import { createFilesMethods, type FilesMethods, type Send } from './methods.js';
import type { CallOptions, Transport } from './transport.js';
import type { FileToUpload, StoredFile } from './types.js';

/** Calls about files. */
export interface Files extends FilesMethods {
  /**
   * Stores either all files or none. Returns them in the order of `files`.
   * @param files - The names and contents.
   * @param about - Tags of all files, and the connector that they belong to.
   * @param options - The options of this call.
   */
  upload(
    files: FileToUpload[],
    about?: { tags?: string[]; connector_id?: string },
    options?: CallOptions,
  ): Promise<StoredFile[]>;
  /**
   * Returns the content of a file.
   * @param id - The id of the file.
   * @param options - The options of this call.
   */
  download(id: string, options?: CallOptions): Promise<Uint8Array>;
}

export function createFiles(transport: Transport, send: Send): Files {
  const methods = createFilesMethods(send);
  return {
    ...methods,
    async upload(files, { tags = [], connector_id } = {}, options) {
      const form = new FormData();
      if (tags.length > 0) form.append('tags', JSON.stringify(tags));
      if (connector_id !== undefined) form.append('connector_id', connector_id);
      for (const { name, content, type = '' } of files)
        form.append('file', content instanceof Blob ? content : new Blob([content], { type }), name);
      return (await send<{ data: StoredFile[] }>('post', '/file/{projectID}', { body: form }, options)).data;
    },
    download: async (id, options) => transport.download((await methods.get(id, options)).url, options),
  };
}
