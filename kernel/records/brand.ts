declare const brand: unique symbol;

/** A distinct type of the same representation: `Brand<string, 'volume'>`. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

declare const flavor: unique symbol;

/** As a brand, but a plain value is accepted without a cast: for ids that come as numbers with every request. */
export type Flavor<T, Name extends string> = T & { readonly [flavor]?: Name };
