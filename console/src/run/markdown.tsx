import ReactMarkdown from 'react-markdown';
import remarkGfm from 'remark-gfm';

/** Renders Markdown from a model. HTML is not rendered, unsafe URLs are dropped, and images become links. */
export function Markdown({ text }: { text: string }) {
  return (
    <ReactMarkdown
      // Adds tables, which models often write.
      remarkPlugins={[remarkGfm]}
      components={{
        a: ({ href, children }) => (
          <a href={href} rel="noreferrer nofollow" target="_blank">
            {children}
          </a>
        ),
        // An image would reveal the reader to another site. The content security policy blocks it as well.
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
