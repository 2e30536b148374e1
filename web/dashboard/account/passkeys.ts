import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser'

import { ApiRequestError } from '../api/api-error.ts'
import { requestJson } from '../api/call-api.ts'

// The library is in a part of the dashboard of its own, which is loaded with the first use of a passkey.
export const loadPasskeyLibrary = () => import('@simplewebauthn/browser')

/** Whether the browser can use passkeys. It cannot at an address without https, except on this machine. */
export const canUsePasskeys = (): boolean => 'PublicKeyCredential' in window && isSecureContext

/** Asks the person for a passkey to sign in with. Throws an `ApiRequestError`. */
export async function askForPasskey(): Promise<unknown> {
  const path = 'api/frontend/account/webauthn/login/options'
  const optionsJSON = await requestJson<PublicKeyCredentialRequestOptionsJSON>('POST', path)
  const { startAuthentication } = await loadPasskeyLibrary()
  return startAuthentication({ optionsJSON }).catch(throwPasskeyError)
}

/** Throws an `ApiRequestError` for an error of the browser. */
export function throwPasskeyError(error: unknown): never {
  const name = error instanceof Error ? error.name : ''
  if (name === 'InvalidStateError')
    throw new ApiRequestError('This device has a passkey of this account already.', 400)
  if (name === 'NotAllowedError' || name === 'AbortError')
    throw new ApiRequestError('No passkey was used: it was canceled, or took too long.', 400)
  if (name === 'SecurityError')
    throw new ApiRequestError('Passkeys work only at the address of the server (BASE_URL).', 400)
  throw new ApiRequestError('The passkey could not be used.', 400)
}
