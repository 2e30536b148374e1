import type { OperationDialect, RecordDialect } from '../../record-dialect.ts'
import { schemaChanger } from '../../response-schema.ts'

/** Texts that are null in AzuraCast if they are not set. The settings of mail are empty there too. */
const nullable = ['instance_name', 'api_access_control', 'homepage_redirect_url', 'default_album_art_url']

const replaceUnset = (record: object, unset: unknown, replacement: unknown) =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name,
      nullable.includes(name) && value === unset ? replacement : value
    ])
  )

const withUnset = schemaChanger({ nullable })

/** The settings of a group. */
export const settingsGroupDialect: RecordDialect = {
  render: rows => rows.map(row => replaceUnset(row, '', null)),
  parse: body => replaceUnset(body, null, '')
}

/** All settings of the installation. */
export const settingsDialect: RecordDialect = { ...settingsGroupDialect, response: withUnset }

/** The schema of the settings of a group, which has no name of its own. */
export const getSettingsGroupDialect: OperationDialect = { response: withUnset }
