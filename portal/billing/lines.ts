import type { Store } from '@granary/kernel';
import { listBilledArrays } from '../arrays/repository.ts';
import type { UserId } from '../ids.ts';
import { listItemsIn, type Span } from '../metering/repository.ts';
import type { PriceHistory } from '../pricing/history.ts';
import { priceHistory } from '../pricing/price-book.ts';
import { billLines, type BillLine } from './bill.ts';

/**
 * The lines of the bill for a span that is past, of one user's arrays or of all (null). They are read array
 * by array as they are taken. The past does not change: meter and price book only ever write what holds from now on,
 * so this gives the same bill as one long read that makes other requests wait.
 */
export function* billedLines(store: Store, span: Span, ownerId: UserId | null, only?: number): Generator<BillLine> {
  const prices = new Map<number, PriceHistory>();
  for (const array of store.read((db) => listBilledArrays(db, span, ownerId))) {
    if (only !== undefined && array.id !== only) continue;
    const known = prices.get(array.providerId) ?? store.read((db) => priceHistory(db, array.providerId, span.to));
    prices.set(array.providerId, known);
    const items = store.read((db) => listItemsIn(db, span, array.id));
    yield* billLines(array, items, known, span);
  }
}
