import type { ArrayHandlers } from '../handlers.ts';
import type { ForecastService } from './service.ts';

export function forecastRoutes(forecasts: ForecastService): ArrayHandlers<'forecasts'> {
  return { list: ({ kind, ...page }) => forecasts.list(kind, page) };
}
