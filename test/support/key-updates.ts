import { createCipheriv, createHmac } from 'node:crypto';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** The only cipher for which {@link KeyUpdates} builds records. */
export const CIPHER = 'TLS_AES_128_GCM_SHA256';

const APPLICATION_DATA = 0x17;
const HANDSHAKE = 0x16;
/** A handshake message of one byte that asks the peer to update its keys, too (RFC 8446, section 4.6.3). */
const KEY_UPDATE_REQUEST = [24, 0, 0, 1, 1];
const TAG_BYTES = 16;
const HEAD_BYTES = 5;
/** The size of a record of {@link buildKeyUpdates}; its content ends with its type. */
export const KEY_UPDATE_BYTES = HEAD_BYTES + KEY_UPDATE_REQUEST.length + 1 + TAG_BYTES;

/** HKDF-Expand-Label of RFC 8446, section 7.1, for up to 32 bytes. */
function expandLabel(secret: Buffer, label: string, bytes: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`);
  const info = Buffer.concat([Buffer.of(0, bytes, name.length), name, Buffer.of(0, 1)]);
  return createHmac('sha256', secret).update(info).digest().subarray(0, bytes);
}

/** The traffic secret in a line of the event `keylog`, if it has the label. */
export function parseTrafficSecret(line: Buffer, label: string): Buffer | undefined {
  const [found, , secret = ''] = line.toString().trim().split(' ');
  return found === label ? Buffer.from(secret, 'hex') : undefined;
}

/**
 * Builds records that update the keys again and again, after so many with the first key, and then send a
 * text.
 */
export function buildKeyUpdates(trafficSecret: Buffer, sequence: number, count: number, text = ''): Buffer {
  let secret = trafficSecret;
  const records = Array.from({ length: count }, (_, index) => {
    const record = encrypt(secret, index === 0 ? sequence : 0, [...KEY_UPDATE_REQUEST, HANDSHAKE]);
    secret = expandLabel(secret, 'traffic upd', 32);
    return record;
  });
  const last = text === '' ? [] : [encrypt(secret, 0, [...Buffer.from(text), APPLICATION_DATA])];
  return Buffer.concat([...records, ...last]);
}

function encrypt(secret: Buffer, sequence: number, content: readonly number[]): Buffer {
  const nonce = expandLabel(secret, 'iv', 12);
  const last = nonce.length - 1;
  nonce.writeUInt8((nonce[last] ?? 0) ^ sequence, last);
  const head = Buffer.from([APPLICATION_DATA, 3, 3, 0, content.length + TAG_BYTES]);
  const cipher = createCipheriv('aes-128-gcm', expandLabel(secret, 'key', 16), nonce).setAAD(head);
  const body = Buffer.concat([cipher.update(Buffer.from(content)), cipher.final()]);
  return Buffer.concat([head, body, cipher.getAuthTag()]);
}

/**
 * A stream for TLS over a socket, to which a test writes records of its own. Counts the records that TLS
 * sends.
 */
export class TlsTransport extends Duplex {
  /** Records of application data since the peer has sent its first one. */
  sentRecords = 0;
  readonly raw: Socket;
  #hasReceived = false;

  constructor(raw: Socket) {
    super();
    this.raw = raw;
    raw.on('data', (chunk: Buffer) => {
      this.#hasReceived ||= countRecords(chunk) > 0;
      this.push(chunk);
    });
    raw.on('error', () => undefined).on('close', () => this.destroy());
    this.on('error', () => undefined);
  }

  override _read(): void {
    // The raw socket flows.
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    if (this.#hasReceived) this.sentRecords += countRecords(chunk);
    this.raw.write(chunk, () => done());
  }

  override _destroy(_error: Error | null, done: () => void): void {
    this.raw.destroy();
    done();
  }
}

function countRecords(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at + HEAD_BYTES <= bytes.length; at += HEAD_BYTES + bytes.readUInt16BE(at + 3))
    if (bytes[at] === APPLICATION_DATA) count += 1;
  return count;
}
