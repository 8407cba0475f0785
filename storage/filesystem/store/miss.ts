/**
 * Operations on metadata are synchronous functions: what they need is nearly always in memory. One that meets a node
 * that is not throws `MISS`; whoever runs it takes back what it has changed so far, waits for the node, and runs it again.
 */
export const MISS = new Error('A node is not in memory; wait for it and run the operation again.');
