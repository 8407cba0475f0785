import { testSpoiltRequests } from '../kernel/process/testing/bad-requests.ts';
import { isOfPeople, testedObjects } from './testing/bad-requests.ts';

await testSpoiltRequests(await testedObjects(), isOfPeople);
