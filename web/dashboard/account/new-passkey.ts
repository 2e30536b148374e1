import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/browser'

import { ApiRequestError, isRefusedRequest, toApiRequestError } from '../api/api-error.ts'
import { requestJson } from '../api/call-api.ts'
import { throwPasskeyError, loadPasskeyLibrary } from './passkeys.ts'

interface NewPasskeyOptions<Result> {
  /** Where the server offers options for the passkey, and what it has to know for them. */
  readonly path: string
  readonly body?: unknown
  /** Sends the passkey to the server. */
  readonly store: (passkey: unknown) => Promise<Result>
}

/** The error of a passkey that the server did not take. `remains` says what is on the device now. */
function unusedPasskeyError(
  { message, status, isUnauthenticated, fieldErrors }: ApiRequestError,
  remains: string
) {
  // Fields show their problems themselves.
  const errors = fieldErrors.length === 0 ? [] : [...fieldErrors, { field: 'passkey', message: remains }]
  return new ApiRequestError(`${message} ${remains}`, status, isUnauthenticated, errors)
}

/**
 * Asks the server for options and the person for a new passkey, and stores it. A passkey that the server refuses is
 * removed from the device, if the browser can do that. Throws an `ApiRequestError`.
 */
export async function createPasskey<Result>({
  path,
  body,
  store
}: NewPasskeyOptions<Result>): Promise<Result> {
  const method = body === undefined ? 'GET' : 'POST'
  const optionsJSON = await requestJson<PublicKeyCredentialCreationOptionsJSON>(method, path, { body })
  const { startRegistration } = await loadPasskeyLibrary()
  const passkey = await startRegistration({ optionsJSON }).catch(throwPasskeyError)
  try {
    return await store(passkey)
  } catch (thrown) {
    const error = toApiRequestError(thrown)
    const { user } = optionsJSON
    const { id: rpId = location.hostname } = optionsJSON.rp
    const name = `the passkey of ${user.name} for ${rpId}`
    if (!isRefusedRequest(error))
      throw unusedPasskeyError(
        error,
        `Whether ${name} can be used is not certain: try it. If it cannot, remove it in the settings of your device for passwords and passkeys.`
      )
    throw unusedPasskeyError(error, await withdraw(rpId, passkey.id, name))
  }
}

/** Asks the browser to remove a passkey that no account has. Returns what the person has to know. */
async function withdraw(rpID: string, credentialID: string, name: string): Promise<string> {
  const { sendSignal } = await loadPasskeyLibrary()
  // Browsers do not say whether they have removed it.
  const isSent = await sendSignal({ signalName: 'unknownCredential', rpID, credentialID }).then(
    () => true,
    () => false
  )
  return isSent
    ? `Your browser was asked to remove ${name}, which cannot be used. If it is still there, remove it in the settings of your device for passwords and passkeys.`
    : `A passkey that cannot be used is left on this device: remove ${name} in its settings for passwords and passkeys.`
}
