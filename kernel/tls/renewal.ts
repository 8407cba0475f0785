import { X509Certificate } from 'node:crypto';
import { systemClock, type Clock } from '../clock.ts';
import type { Issuer, LeafRequest } from './issuer.ts';
import { TlsSource } from './source.ts';

const DAY_MS = 24 * 3600_000;
const CHECK_EVERY_MS = 3600_000;
const LEFT_DAYS_MIN = 30;

interface RenewedOptions extends Omit<LeafRequest, 'now'> {
  readonly issuer: Issuer;
  readonly clock?: Clock;
  readonly clientAuthority?: string | undefined;
}

/** A certificate of the installation that is replaced a month before it expires, while its server runs. */
export class RenewedCertificate {
  readonly source: TlsSource;
  readonly #options: RenewedOptions;
  #issuer: Issuer;
  readonly #timer: NodeJS.Timeout;

  constructor(options: RenewedOptions) {
    this.#options = options;
    this.#issuer = options.issuer;
    this.source = new TlsSource(this.#issue());
    this.#timer = setInterval(() => this.renewIfDue(), CHECK_EVERY_MS).unref();
  }

  renewIfDue(): void {
    const { clock = systemClock } = this.#options;
    if (isDue(this.source.current.cert, clock.now())) this.source.replace(this.#issue());
  }

  /** The issuer itself was renewed: certificates expire no later than their issuer. */
  useIssuer(issuer: Issuer): void {
    this.#issuer = issuer;
    this.source.replace(this.#issue());
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #issue() {
    const { issuer: _, clock = systemClock, clientAuthority, ...request } = this.#options;
    return { ...this.#issuer.issue({ ...request, now: clock.now() }), clientAuthority };
  }
}

/** Whether a certificate expires so soon that it has to be renewed. */
export function isDue(cert: string, now: number): boolean {
  return daysLeft(cert, now) < LEFT_DAYS_MIN;
}

/** Until a certificate expires; negative afterwards. */
export function daysLeft(cert: string, now: number): number {
  return (Date.parse(new X509Certificate(cert).validTo) - now) / DAY_MS;
}
