import type { ApiError } from '../platform/runtime/errors.ts'
import { escapeHtml } from '../platform/text/escape-html.ts'

/**
 * Renders the error body of the API. `formatted_message` is HTML, so the message is escaped. Account-level
 * calls have a `status` in all their responses.
 */
export function renderApiError(error: ApiError, { hasStatus = false } = {}): string {
  return JSON.stringify({
    ...(hasStatus ? { status: 'error' } : {}),
    code: error.status,
    type: error.type,
    message: error.message,
    formatted_message: escapeHtml(error.message),
    extra_data: error.extraData,
    success: false
  })
}
