import { testSpoiltRequests } from '../kernel/process/testing/bad-requests.ts';
import { isOfSpace, testedArray } from './testing/bad-requests.ts';

// The other half is in bad-requests.seeded.test.ts.
await testSpoiltRequests(await testedArray(), isOfSpace);
