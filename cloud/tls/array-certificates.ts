import { isDue, type Clock, type Issuer, type ServerTls } from '@granary/kernel';
import type { HostedRecord } from '../hosted-arrays/repository.ts';

interface Issued {
  readonly hosts: string;
  readonly tls: ServerTls;
}

interface ArrayCertificatesOptions {
  readonly issuer: Issuer;
  readonly portalAuthority: string | undefined;
  readonly clock: Clock;
}

/**
 * The certificates of the arrays a cloud hosts: for all addresses of the array, made anew when those change and before
 * they end. Kept in memory alone; a restart makes others of the same issuer.
 */
export class ArrayCertificates {
  readonly #options: ArrayCertificatesOptions;
  readonly #issued = new Map<string, Issued>();

  constructor(options: ArrayCertificatesOptions) {
    this.#options = options;
  }

  of(array: HostedRecord, hosts: readonly string[]): ServerTls {
    const { issuer, portalAuthority, clock } = this.#options;
    const now = clock.now();
    const known = this.#issued.get(array.uuid);
    if (known?.hosts === hosts.join() && !isDue(known.tls.cert, now)) return known.tls;
    const issued = issuer.issue({ role: 'array', id: array.uuid, hosts, use: 'server', now });
    const tls = { ...issued, clientAuthority: portalAuthority };
    this.#issued.set(array.uuid, { hosts: hosts.join(), tls });
    return tls;
  }

  isDue({ uuid }: HostedRecord): boolean {
    const known = this.#issued.get(uuid);
    return known !== undefined && isDue(known.tls.cert, this.#options.clock.now());
  }

  forget(uuid: string): void {
    this.#issued.delete(uuid);
  }
}
