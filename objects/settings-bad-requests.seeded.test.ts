import { testSpoiltRequests } from '../kernel/process/testing/bad-requests.ts';
import { isOfSettings, testedObjects } from './testing/bad-requests.ts';

await testSpoiltRequests(await testedObjects(), isOfSettings);
