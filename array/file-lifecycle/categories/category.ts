export interface NamedCategory {
  readonly name: string;
  readonly displayName: string;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

/** Files are sorted into categories by the extensions of their names. */
export interface Category extends NamedCategory {
  /** In the order they were given. */
  readonly extensions: readonly string[];
}
