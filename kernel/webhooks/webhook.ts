/** Where events are posted to. */
export interface Webhook {
  readonly id: number;
  readonly name: string;
  readonly urlSealed: string;
  readonly secretSealed: string;
  /** This severity and worse. */
  readonly severity: number;
  /** Null is all but logins. */
  readonly kinds: readonly string[] | null;
  readonly isEnabled: boolean;
  /** All events up to this one are delivered, skipped or not wanted. */
  readonly deliveredEvent: number;
  /** Attempts that failed in a row. */
  readonly failures: number;
  readonly nextAttemptAt: number;
  /** Events that were given up. */
  readonly skipped: number;
  readonly lastStatus: number | null;
  /** Null when the last attempt succeeded. */
  readonly lastError: string | null;
  readonly lastDeliveredAt: number | null;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

/** Who posts: it stands in every delivery. */
export interface WebhookSource {
  readonly service: string;
  /** What people call it. */
  readonly name: string;
  readonly id: string;
}
