import { AppError } from '../base/errors.js';
import { createOfflineModel, offlineModelName } from './offline.js';
import { createOpenAiModel } from './openai.js';
import type { ChatModel } from './port.js';

interface ModelsConfig {
  baseUrl: string | undefined;
  apiKey: string | undefined;
  model: string | undefined;
  /** The maximum time without data from the endpoint. */
  idleMs?: number;
}

/** Uses the configured endpoint. Uses the offline model if there is no endpoint or if an agent selects it. */
export function createModels({ baseUrl, apiKey, model: defaultModel, idleMs }: ModelsConfig): ChatModel {
  const offline = createOfflineModel();
  if (baseUrl === undefined) return offline;
  const endpoint = createOpenAiModel({ baseUrl, apiKey, ...(idleMs !== undefined && { idleMs }) });
  return {
    async complete(request) {
      const model = request.model || defaultModel;
      if (model === undefined) throw new AppError('unconfigured', 'neither the agent nor LLM_MODEL names a model');
      return (model === offlineModelName ? offline : endpoint).complete({ ...request, model });
    },
  };
}
