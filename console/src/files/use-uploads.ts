import { useCallback, useRef, useState } from 'react';
import { isResponse, newIdempotencyKey } from '../api.js';
import { projectId } from '../session.js';
import { sendWithProgress } from './send-with-progress.js';

interface UploadOptions {
  /** Whether the document is added to the context graph. */
  isKnowledge: boolean;
  /** Whether facts are extracted from the document as well. */
  isExtracted: boolean;
  /** The names of the tags that the file gets. */
  tags: readonly string[];
}

export interface Upload extends UploadOptions {
  /** The idempotency key of the request. */
  id: string;
  file: File;
  state: 'waiting' | 'sending' | 'done' | 'refused';
  /** The uploaded part, from 0 to 1. */
  part: number;
  problem?: unknown;
  stop: AbortController;
}

const atOnce = 2;

/** Uploads each file in its own request, so that a refused file does not stop the others. */
export function useUploads(onDone: () => void) {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const waiting = useRef<Upload[]>([]);
  const running = useRef(0);
  const change = useCallback(
    (id: string, to: Partial<Upload>) =>
      setUploads((known) => known.map((upload) => (upload.id === id ? { ...upload, ...to } : upload))),
    [],
  );
  const work = useCallback(async () => {
    if (running.current >= atOnce) return;
    running.current += 1;
    for (let next = waiting.current.shift(); next; next = waiting.current.shift()) {
      const { id } = next;
      change(id, { state: 'sending', part: 0 });
      try {
        await upload(next, (part) => change(id, { part }));
        change(id, { state: 'done', part: 1 });
        onDone();
      } catch (error) {
        change(id, { state: 'refused', problem: error });
      }
    }
    running.current -= 1;
  }, [change, onDone]);
  const queue = (added: readonly Upload[]) => {
    setUploads((known) => [...added, ...known]);
    waiting.current.push(...added);
    for (let worker = 0; worker < atOnce; worker += 1) void work();
  };
  const add = (files: readonly File[], options: UploadOptions) =>
    queue(files.map((file) => ({ ...options, ...newUpload(), file })));
  const dismiss = useCallback((dismissed: Upload) => {
    dismissed.stop.abort();
    waiting.current = waiting.current.filter(({ id }) => id !== dismissed.id);
    setUploads((known) => known.filter(({ id }) => id !== dismissed.id));
  }, []);
  /** Uploads a file again. If the response was lost, the same key keeps the service from storing the file twice. */
  const repeat = (refused: Upload) => {
    dismiss(refused);
    const { problem, id, ...upload } = refused;
    queue([{ ...upload, ...newUpload(), ...(!isResponse(problem) && { id }) }]);
  };
  return { uploads, add, dismiss, repeat };
}

const newUpload = () => ({ id: newIdempotencyKey(), state: 'waiting', part: 0, stop: new AbortController() }) as const;

async function upload(options: Upload, onProgress: (part: number) => void): Promise<void> {
  const { id, file, isKnowledge, isExtracted, tags, stop } = options;
  const form = new FormData();
  if (isKnowledge) form.append('extract', String(isExtracted));
  if (tags.length > 0) form.append('tags', JSON.stringify(tags));
  form.append('file', file, file.name);
  const encodedProjectId = encodeURIComponent(projectId);
  const path = isKnowledge ? `/knowledge_base/${encodedProjectId}/upload` : `/file/${encodedProjectId}`;
  await sendWithProgress(path, form, { onProgress, signal: stop.signal, key: id });
}
