import { parseApiKey } from './key-checker.ts'
import { isListenToken } from './listen-tokens.ts'

/* Credentials in the addresses that pages of private stations link to. */

/** The query parameter of a credential. */
export const credentialParameterName = (apiKey: string): 'token' | 'api_key' =>
  isListenToken(apiKey) ? 'token' : 'api_key'

/** Renders a credential as a query, with `?`; empty without one. */
export function renderCredentialQuery(apiKey: string): string {
  if (apiKey === '') return ''
  return `?${new URLSearchParams({ [credentialParameterName(apiKey)]: apiKey }).toString()}`
}

/**
 * Adds a listen token to the address of a stream or cover of this server. API keys are not added: proxies and
 * streaming servers log addresses.
 */
export function addListenTokenToUrl(url: string, apiKey: string, baseUrl: string): string {
  const isOwn = url.startsWith(`${baseUrl}/listen/`) || url.startsWith(`${baseUrl}/api/station/`)
  return isOwn && isListenToken(apiKey) ? url + renderCredentialQuery(apiKey) : url
}

/** Renders a query without credentials, for an address of another server. A `token` may be meant for that one. */
export function renderForwardedQuery(query: URLSearchParams): string {
  const others = [...query].filter(
    ([name, value]) =>
      name !== 'api_key' && !(name === 'token' && (isListenToken(value) || parseApiKey(value) !== null))
  )
  return new URLSearchParams(others).toString()
}
