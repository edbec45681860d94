import ReactMarkdown from 'react-markdown';
import remarkGfm from 'remark-gfm';

/** Markdown of a model: its HTML is not rendered, unsafe addresses are dropped, and images are links. */
export function Markdown({ text }: { text: string }) {
  return (
    <ReactMarkdown
      // Tables, which models write.
      remarkPlugins={[remarkGfm]}
      components={{
        a: ({ href, children }) => (
          <a href={href} rel="noreferrer nofollow" target="_blank">
            {children}
          </a>
        ),
        // An image would tell another site who reads this, and the content security policy refuses it.
        img: ({ src, alt }) => (
          <a href={typeof src === 'string' ? src : undefined} rel="noreferrer nofollow" target="_blank">
            {alt ?? src}
          </a>
        ),
        h1: ({ children }) => <h3>{children}</h3>,
        h2: ({ children }) => <h4>{children}</h4>,
        h3: ({ children }) => <h5>{children}</h5>,
      }}
    >
      {text}
    </ReactMarkdown>
  );
}
