import type { MailedEvent } from '@granary/kernel';

/** A mail that waits to be sent. */
export interface Letter {
  readonly id: number;
  readonly recipient: string;
  /** Subject and text, sealed. */
  readonly sealed: string;
  readonly attempts: number;
  readonly sendAfter: number;
  readonly createdAt: number;
}

/** An event that users may have subscribed to. */
export interface ToldEvent extends MailedEvent {
  readonly subject: string;
}

/** A user who asked for mails about events. */
export interface Recipient {
  readonly email: string;
  readonly account: string;
  readonly isAdmin: boolean;
  /** Events up to this number are mailed. */
  readonly severity: number;
}
