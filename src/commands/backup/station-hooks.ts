import * as v from 'valibot'

import type { NamedValue } from '../../model/fields/named-values.ts'
import { toFieldErrors } from '../../model/fields/validators.ts'
import { findMissingHookSettings } from '../../webhooks/hook-config-change.ts'
import { isSecretSetting, findSettingField } from '../../webhooks/hook-config.ts'
import type { HookType } from '../../webhooks/types/hook-type.ts'
import { getHookType } from '../../webhooks/types/hook-types.ts'

/* Web hooks of an exported station. Their columns have been checked. */

type Row = Readonly<Record<string, unknown>>

const configOf = ({ config }: Row): NamedValue[] => (Array.isArray(config) ? config : [])

const typeOf = (row: Row): HookType => getHookType(String(row['type']))

/**
 * The hook without secrets, which are never in a file, and disabled if it needs one; or what is wrong with its
 * settings.
 */
export function withoutHookSecrets(row: Row): Row | { readonly column: string; readonly sentence: string } {
  const type = typeOf(row)
  const triggers: unknown = row['triggers']
  const known: readonly unknown[] = type.triggers
  if (Array.isArray(triggers) && triggers.some(trigger => !known.includes(trigger)))
    return { column: 'triggers', sentence: `is not supported by the type ${type.name}.` }
  const config: NamedValue[] = []
  for (const { key, value } of configOf(row)) {
    const field = findSettingField(type, key)
    if (isSecretSetting(type, key) || Object.hasOwn(type.made, key)) config.push({ key, value: '' })
    else if (!field) {
      if (!type.isRetired) return { column: 'config', sentence: `has the unknown setting ${key}.` }
      config.push({ key, value })
    } else {
      const checked = v.safeParse(field.input, value, { abortPipeEarly: true })
      const [problem] = checked.success ? [] : toFieldErrors(checked.issues, key)
      if (problem) return { column: 'config', sentence: `is not accepted: ${problem.message}` }
      config.push({ key, value })
    }
  }
  const lacksSecret = config.some(
    ({ key, value }) => value === '' && (isSecretSetting(type, key) || Object.hasOwn(type.made, key))
  )
  const isComplete = !lacksSecret && findMissingHookSettings(type, config).length === 0
  return { ...row, config, is_enabled: row['is_enabled'] === true && isComplete }
}

/** The addresses that a hook is sent to. */
export function findHookAddresses(row: Row): { readonly column: string; readonly url: string }[] {
  const type = typeOf(row)
  return configOf(row)
    .filter(({ key, value }) => type.urls.includes(key) && !isSecretSetting(type, key) && value !== '')
    .map(({ value }) => ({ column: 'config', url: String(value) }))
}
