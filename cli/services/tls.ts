import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  authorityFile,
  CertificateFiles,
  certificateFingerprint,
  CloudIssuerFiles,
  isLoopback,
  namesOfListener,
  openAuthority,
  RenewedCertificate,
  type Issuer,
  type TlsSource,
} from '@granary/kernel/tls';
import type { Log } from '@granary/kernel';
import type { GranaryCommand } from '../command.ts';
import { CommandFailure, exitCodes, usageFailure } from '../exit.ts';
import { readNamedFile } from './options.ts';

export interface TlsOptions {
  readonly tls?: true;
  readonly insecureHttp?: true;
  readonly tlsName?: string;
}

export interface OwnCertificateOptions extends TlsOptions {
  readonly tlsCert?: string;
  readonly tlsKey?: string;
}

export function addTlsOptions(command: GranaryCommand): void {
  command.option('--tls', 'Serve HTTPS on loopback too; any other --host has it by itself');
  command.option('--insecure-http', 'Serve plain HTTP although --host is not loopback: others can read along');
  command.option('--tls-name <names>', 'Names this machine is reached by, with commas, for its certificate');
}

export function addOwnCertificateOptions(command: GranaryCommand): void {
  addTlsOptions(command);
  command.option('--tls-cert <file>', "Certificate chain of one's own (PEM), in place of one of Granary's; reloaded");
  command.option('--tls-key <file>', "The certificate's private key (PEM)");
}

/** Loopback is served in the clear unless TLS is asked for; everything else over TLS unless it is refused. */
export function wantsTls(host: string, { tls, insecureHttp, tlsCert, tlsKey }: OwnCertificateOptions): boolean {
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw usageFailure('--tls-cert and --tls-key belong together.');
  const isAsked = tls === true || tlsCert !== undefined;
  if (isAsked && insecureHttp)
    throw usageFailure(`--insecure-http and ${tls ? '--tls' : '--tls-cert'} contradict each other; give one of them.`);
  return isAsked || (!isLoopback(host) && !insecureHttp);
}

/** The files of `--tls-cert` and `--tls-key`, read before anything starts; undefined when none are given. */
export function ownCertificate({ tlsCert, tlsKey }: OwnCertificateOptions): CertificateFiles | undefined {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  readNamedFile(tlsCert, '--tls-cert');
  readNamedFile(tlsKey, '--tls-key');
  try {
    return new CertificateFiles({ certFile: tlsCert, keyFile: tlsKey });
  } catch (error) {
    throw new CommandFailure(exitCodes.failed, (error as Error).message, { cause: error });
  }
}

interface Listener {
  readonly host: string;
  readonly names: readonly string[];
  readonly authority: Issuer;
  readonly own: CertificateFiles | undefined;
  readonly log: Log;
}

export interface ServedCertificate {
  readonly source: TlsSource;
  readonly stop: () => Promise<void>;
}

/** What the portal shows: the operator's own certificate, or one of the authority that is renewed in time. */
export function portalCertificate({ host, names, authority, own, log }: Listener): ServedCertificate {
  own?.watch(log);
  const served =
    own ??
    new RenewedCertificate({
      issuer: authority,
      role: 'portal',
      id: authority.id,
      hosts: namesOfListener(host, names),
      use: 'server',
    });
  return {
    source: served.source,
    stop: () => {
      served.stop();
      return Promise.resolve();
    },
  };
}

export function namesIn({ tlsName = '' }: TlsOptions): string[] {
  return tlsName
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** The authority of an installation, made when it is not there. */
export function installationAuthority(folder: string): Issuer {
  return openAuthority(authorityFolder(folder), Date.now());
}

export function hasAuthority(folder: string): boolean {
  return existsSync(authorityFile(authorityFolder(folder)));
}

export function cloudIssuerFiles(folder: string): CloudIssuerFiles {
  return new CloudIssuerFiles(join(folder, 'cloud', 'tls'));
}

/** For people to compare: where the authority's certificate is, and its fingerprint. */
export function authorityWords(folder: string, { authority }: Issuer): string {
  return `SHA-256 ${certificateFingerprint(authority)} (${authorityFile(authorityFolder(folder))})`;
}

function authorityFolder(folder: string): string {
  return join(folder, 'authority');
}
