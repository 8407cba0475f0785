export { webhookRoutes } from './routes.ts';
export { WebhookService } from './service.ts';
