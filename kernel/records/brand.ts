declare const brand: unique symbol;

/** A distinct type of the same representation: `Brand<string, 'volume'>`. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };
