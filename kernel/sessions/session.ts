/** A browser that is signed in. */
export interface Session {
  readonly id: number;
  /** Whose it is: the id of an actor, such as `user:12`. */
  readonly user: string;
  /** The hash of what the cookie holds. */
  readonly valueMark: string;
  readonly createdAt: number;
  readonly seenAt: number;
  readonly ip: string;
  readonly userAgent: string | null;
}

/** How long sessions last. */
export interface SessionLimits {
  readonly idleMinutes: number;
  readonly hoursMax: number;
}
