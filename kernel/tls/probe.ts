import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { connect, type DetailedPeerCertificate, type TLSSocket } from 'node:tls';
import { tlsPolicy } from './policy.ts';

const CHAIN_LENGTH_MAX = 10;

interface Probed {
  readonly host: string;
  /** The address of the host, when it was looked up before. */
  readonly address?: string;
  readonly port: number;
  readonly timeoutMs: number;
}

/**
 * The certificate chain of a server, its own certificate first, each in PEM. Nothing is sent and nothing is trusted:
 * the caller decides which of them to trust, and connects again.
 */
export function probeChain({ host, address = host, port, timeoutMs }: Probed): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const servername = isIP(host) === 0 ? host : '';
    const socket = connect({ ...tlsPolicy, host: address, port, servername, rejectUnauthorized: false });
    // Stays registered: a reset after the handshake is ignored.
    socket.on('error', (error: Error) => {
      clearTimeout(timer);
      reject(error);
    });
    const timer = setTimeout(() => {
      socket.destroy(Object.assign(new Error('it took too long'), { name: 'TimeoutError' }));
    }, timeoutMs);
    socket.once('secureConnect', () => {
      clearTimeout(timer);
      resolve(chainOf(socket));
      socket.destroy();
    });
  });
}

function chainOf(socket: TLSSocket): string[] {
  const chain: string[] = [];
  let certificate: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  while (certificate?.raw && chain.length < CHAIN_LENGTH_MAX) {
    chain.push(new X509Certificate(certificate.raw).toString());
    const issuer: DetailedPeerCertificate | undefined = certificate.issuerCertificate;
    certificate = issuer === certificate ? undefined : issuer;
  }
  return chain;
}

/** Whether a failed handshake means that the other end does not speak TLS. */
export function isNotTls(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  return code === 'EPROTO' || /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)/.test(code);
}
