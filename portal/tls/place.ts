import { certificateFingerprint, splitChain, type TlsSource } from '@granary/kernel';

interface Served {
  /** How other machines reach it. */
  readonly host: string;
  readonly port: number;
  /** Absent: it serves in the clear. */
  readonly tls: TlsSource | undefined;
}

/** Where the portal is for other machines, and what it shows there; known once it listens. */
export class PortalPlace {
  #served: Served | undefined;

  serve(served: Served): void {
    this.#served = served;
  }

  get host(): string {
    return this.#served?.host ?? 'localhost';
  }

  get port(): number {
    return this.#served?.port ?? 0;
  }

  /**
   * The fingerprint by which another machine knows this portal: its authority's, or that of the certificate which the
   * operator brought. Undefined while it serves in the clear.
   */
  fingerprintUnder(authority: string): string | undefined {
    const chain = splitChain(this.#served?.tls?.current.cert ?? '');
    const shown = chain.includes(authority) ? authority : chain[0];
    return shown === undefined ? undefined : certificateFingerprint(shown);
  }
}
