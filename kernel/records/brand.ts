declare const brand: unique symbol;

/** A value that is not to be mixed up with others of its type: `Brand<string, 'volume'>`. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };
