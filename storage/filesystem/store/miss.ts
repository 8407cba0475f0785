/**
 * Operations on metadata are synchronous functions: what they need is nearly always in memory. An operation that needs
 * a node that is not throws `MISS`; the store rolls back its changes, loads the node, and runs it again.
 */
export const MISS = new Error('A node is not in memory; wait for it and run the operation again.');
