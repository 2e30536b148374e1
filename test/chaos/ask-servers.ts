import { askPlainly, headersOf } from '../support/plain-http.ts'
import { adminKey, type Program } from '../support/program.ts'

/** Sends requests to the servers in turn until one responds within `responseMs`. Throws if none does. */
export function askServers(baseUrls: readonly string[], responseMs = 10_000): Program['ask'] {
  return async (method, path, { body, key = adminKey } = {}) => {
    let last: unknown
    for (const baseUrl of baseUrls) {
      try {
        const response = await askPlainly(baseUrl + path, {
          method,
          headers: { 'Content-Type': 'application/json', ...(key === '' ? {} : { 'X-API-Key': key }) },
          body: body === undefined ? undefined : JSON.stringify(body),
          signal: AbortSignal.timeout(responseMs)
        })
        const isJson = response.headers['content-type']?.startsWith('application/json') === true
        const text = response.body.toString()
        return {
          status: response.status,
          headers: headersOf(response),
          body: isJson ? JSON.parse(text) : text
        }
      } catch (error) {
        last = error
      }
    }
    throw new Error(`no server answers ${method} ${path}`, { cause: last })
  }
}
