import { Problem } from './parts.js';

export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser may still be reading the blob.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export function NotDownloaded({ name, error }: { name: string; error: unknown }) {
  const what = (
    <>
      <bdi>{name}</bdi> could not be downloaded
    </>
  );
  return <Problem error={error} what={what} />;
}
