import {
  selfSigned,
  type Clock,
  type EventLog,
  type HostedConfiguration,
  type KeyAndCertificate,
  type Store,
  type Vault,
} from '@granary/kernel';
import type { StoredCertificate } from './certificate.ts';
import { certificateInfo, readPem, type CertificateInfo } from './pem.ts';
import { findCertificate, saveCertificate } from './repository.ts';

interface CertificatesOptions {
  readonly store: Store;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly events: EventLog;
  readonly configuration: () => HostedConfiguration;
  /** Name and addresses that the default certificate is for. */
  readonly subject: () => { readonly name: string; readonly hosts: readonly string[] };
}

/**
 * What the data path shows of itself over TLS: what was installed, else the certificate the cloud made for the array's
 * addresses, else, where the cloud serves without TLS, one that the array made for itself.
 */
export class Certificates {
  readonly #options: CertificatesOptions;

  constructor(options: CertificatesOptions) {
    this.#options = options;
  }

  async current(): Promise<KeyAndCertificate> {
    return this.#find('installed') ?? (await this.#default());
  }

  async info(): Promise<{ readonly own: CertificateInfo; readonly current: CertificateInfo }> {
    const own = await this.#default();
    const current = this.#find('installed') ?? own;
    return { own: certificateInfo(own.cert), current: certificateInfo(current.cert) };
  }

  async install(pem: string, actor: string): Promise<void> {
    const { store, clock, events } = this.#options;
    const pair = readPem(pem, clock.now());
    const { domain } = certificateInfo(pair.cert);
    await store.write((tx) => {
      saveCertificate(tx, this.#sealed('installed', pair));
      const title = `A certificate for ${domain} was installed.`;
      events.record(tx, { severity: 'notice', title, subject: 'settings', actor });
    });
  }

  /** Made when it is first needed. */
  async #default(): Promise<KeyAndCertificate> {
    const { tls } = this.#options.configuration();
    if (tls) return { cert: tls.cert, key: tls.key };
    const found = this.#find('default');
    if (found) return found;
    const { store, clock, subject } = this.#options;
    const { name, hosts } = subject();
    const made = selfSigned(name, hosts, clock.now());
    return store.write((tx) => {
      const other = findCertificate(tx, 'default');
      if (other) return this.#pair(other);
      saveCertificate(tx, this.#sealed('default', made));
      return made;
    });
  }

  #find(kind: StoredCertificate['kind']): KeyAndCertificate | undefined {
    const found = this.#options.store.read((db) => findCertificate(db, kind));
    return found && this.#pair(found);
  }

  #pair({ certificate, keySealed }: StoredCertificate): KeyAndCertificate {
    return { cert: certificate, key: this.#options.vault.unseal(keySealed) };
  }

  #sealed(kind: StoredCertificate['kind'], { key, cert }: KeyAndCertificate): StoredCertificate {
    const { vault, clock } = this.#options;
    return { kind, certificate: cert, keySealed: vault.seal(key), madeAt: clock.now() };
  }
}
