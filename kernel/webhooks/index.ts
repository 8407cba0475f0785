export { webhookRoutes } from './routes.ts';
export { WebhookService } from './service.ts';
export { postSigned, type Attempt } from './signed-post.ts';
