import { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { roleUri, type TlsRole } from './issuer.ts';

const known = new WeakMap<Socket, boolean>();

/**
 * Whether the peer of a connection proved by a client certificate that it is a portal of this installation. Only the
 * authority itself issues such certificates: one signed by a cloud's issuer is not accepted.
 */
export function isPortal(socket: Socket, authority: string): boolean {
  const seen = known.get(socket);
  if (seen !== undefined) return seen;
  const is = (socket as Partial<TLSSocket>).authorized === true && isSignedPortal(socket as TLSSocket, authority);
  known.set(socket, is);
  return is;
}

function isSignedPortal(socket: TLSSocket, authority: string): boolean {
  const { raw } = socket.getPeerCertificate();
  const certificate = new X509Certificate(raw);
  return (
    urisOf(certificate.subjectAltName).some((uri) => uri.startsWith(roleUri('portal', ''))) &&
    certificate.verify(new X509Certificate(authority).publicKey)
  );
}

/** Whether a server's certificate is that of a role, and, where an id is given, of that one. */
export function hasRole(subjectAltName: string | undefined, role: TlsRole, id?: string): boolean {
  const wanted = roleUri(role, id ?? '');
  return urisOf(subjectAltName).some((uri) => (id === undefined ? uri.startsWith(wanted) : uri === wanted));
}

/** URIs of ours hold nothing that would be quoted; what is quoted is none of ours. */
function urisOf(subjectAltName: string | undefined): string[] {
  return (subjectAltName ?? '')
    .split(', ')
    .filter((name) => name.startsWith('URI:'))
    .map((name) => name.slice('URI:'.length));
}
