import type { Socket } from 'node:net';
import { BSON, type Document } from 'mongodb';

/** Messages of the MongoDB wire protocol that the driver (7) and the stand-in use. */
const headerBytes = 16;
const opMsg = 2013;
/** The offset of the document of a message, in OP_REPLY and in OP_MSG. */
const documentAt: Record<number, number> = { 1: headerBytes + 20, [opMsg]: headerBytes + 5 };
/** Numbers keep their BSON type, so that a changed answer has no other differences. */
const exactly = { promoteValues: false, promoteLongs: false, promoteBuffers: false };

/** A command as the driver sent it. */
export interface SentCommand {
  name: string;
  collection: string;
  body: Document;
}

export function onMessages(socket: Socket, take: (message: Buffer) => void): void {
  let buffered = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    buffered = Buffer.concat([buffered, chunk]);
    while (buffered.length >= 4 && buffered.length >= buffered.readInt32LE(0)) {
      const length = buffered.readInt32LE(0);
      take(buffered.subarray(0, length));
      buffered = buffered.subarray(length);
    }
  });
}

/** Undefined for the legacy handshake, which is not an OP_MSG. */
export function commandOf(message: Buffer): SentCommand | undefined {
  if (message.readInt32LE(12) !== opMsg) return undefined;
  const body = bodyOf(message);
  const [name = '', collection] = Object.entries(body)[0] ?? [];
  return { name, collection: typeof collection === 'string' ? collection : '', body };
}

/** The body section; sections of documents, such as those of an insert, become its fields. */
function bodyOf(message: Buffer): Document {
  let body: Document = {};
  for (let at = headerBytes + 4; at < message.length;) {
    const end = at + 1 + message.readInt32LE(at + 1);
    // The body is first: its first field names the command.
    if (message[at] === 0) body = BSON.deserialize(message.subarray(at + 1, end));
    else Object.assign(body, documentsOf(message.subarray(at + 5, end)));
    at = end;
  }
  return body;
}

function documentsOf(section: Buffer): Document {
  const nameEnd = section.indexOf(0);
  const documents: Document[] = [];
  for (let at = nameEnd + 1; at < section.length; at += section.readInt32LE(at)) {
    documents.push(BSON.deserialize(section.subarray(at, at + section.readInt32LE(at))));
  }
  return { [section.toString('utf8', 0, nameEnd)]: documents };
}

/** The document of an answer; undefined for a message of another kind. */
export function answerOf(message: Buffer): Document | undefined {
  const at = documentAt[message.readInt32LE(12)];
  return at === undefined ? undefined : BSON.deserialize(message.subarray(at), exactly);
}

export function withAnswer(message: Buffer, answer: Document): Buffer {
  const changed = Buffer.concat([message.subarray(0, documentAt[message.readInt32LE(12)]), BSON.serialize(answer)]);
  changed.writeInt32LE(changed.length, 0);
  return changed;
}

/** An answer to `request`, created here or stored from an earlier request. */
export function answerTo(request: Buffer, answer: Document | Buffer): Buffer {
  const made = Buffer.isBuffer(answer) ? Buffer.from(answer) : withAnswer(Buffer.from(request), answer);
  request.copy(made, 8, 4, 8);
  return made;
}
