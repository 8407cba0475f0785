import { isDue, type Clock, type Issuer, type ServerTls } from '@granary/kernel';

interface CertifiedArray {
  readonly uuid: string;
}

interface Issued {
  readonly issuer: Issuer;
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
  #issuer: Issuer;
  readonly #issued = new Map<string, Issued>();

  constructor(options: ArrayCertificatesOptions) {
    this.#options = options;
    this.#issuer = options.issuer;
  }

  /** Every certificate is due: what the issuer before signed ends with it. */
  useIssuer(issuer: Issuer): void {
    this.#issuer = issuer;
  }

  of(array: CertifiedArray, hosts: readonly string[]): ServerTls {
    const { portalAuthority, clock } = this.#options;
    const issuer = this.#issuer;
    const known = this.#issued.get(array.uuid);
    if (known?.hosts === hosts.join() && !this.isDue(array)) return known.tls;
    const issued = issuer.issue({ role: 'array', id: array.uuid, hosts, use: 'server', now: clock.now() });
    const tls = { ...issued, clientAuthority: portalAuthority };
    this.#issued.set(array.uuid, { issuer, hosts: hosts.join(), tls });
    return tls;
  }

  isDue({ uuid }: CertifiedArray): boolean {
    const known = this.#issued.get(uuid);
    return known !== undefined && (known.issuer !== this.#issuer || isDue(known.tls.cert, this.#options.clock.now()));
  }

  drop(uuid: string): void {
    this.#issued.delete(uuid);
  }
}
