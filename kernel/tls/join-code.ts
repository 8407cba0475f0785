import { parseHostAndPort, type HostAndPort } from '../net/outgoing.ts';

/** The code that a cloud on another machine joins with. */
interface JoinCode {
  /** Where the portal is: `host:port`. */
  readonly portal: string;
  /** SHA-256 of a certificate that the portal shows: its authority's, or its own where the operator brought that. */
  readonly fingerprint: string;
  readonly secret: string;
}

/** Length of the secret, and with the fingerprint a multiple of three: the text needs no padding. */
const SECRET_BYTES = 16;
const FINGERPRINT_BYTES = 32;

/** `192.0.2.1:7400/…`: readable, so that the operator sees the address. */
export function writeJoinCode({ portal, fingerprint, secret }: JoinCode): string {
  const bytes = [Buffer.from(fingerprint.replaceAll(':', ''), 'hex'), Buffer.from(secret, 'base64url')];
  return `${portal}/${Buffer.concat(bytes).toString('base64url')}`;
}

export interface ReadJoinCode extends JoinCode {
  readonly place: HostAndPort;
}

export function parseJoinCode(text: string): ReadJoinCode | undefined {
  const match = /^([^/]+)\/([A-Za-z0-9_-]{64})$/.exec(text.trim());
  const [, portal = '', encoded = ''] = match ?? [];
  const place = parseHostAndPort(portal, 0);
  if (!match || !place?.port) return undefined;
  const bytes = Buffer.from(encoded, 'base64url');
  const digits = bytes.subarray(0, FINGERPRINT_BYTES).toString('hex').toUpperCase();
  return {
    portal,
    place,
    fingerprint: digits.replaceAll(/(..)(?=.)/g, '$1:'),
    secret: bytes.subarray(FINGERPRINT_BYTES, FINGERPRINT_BYTES + SECRET_BYTES).toString('base64url'),
  };
}
