import { changeSchema } from '../../answer-schema.ts'
import { isJsonBody, type OperationDialect, type RecordDialect } from '../../record-dialect.ts'

/** Texts that are null in AzuraCast if they are not set. The settings of mail are empty there too. */
const nullable = ['instance_name', 'api_access_control', 'homepage_redirect_url', 'default_album_art_url']

const replaceUnset = (record: object, unset: unknown, replacement: unknown) =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name,
      nullable.includes(name) && value === unset ? replacement : value
    ])
  )

const withUnset = changeSchema({ nullable })

/** The settings of the installation, all or those of a group. */
export const settings: RecordDialect = {
  answer: withUnset,
  render: rows => rows.map(row => replaceUnset(row, '', null)),
  parse: body => replaceUnset(body, null, '')
}

/** Reads the settings of a group. */
export const getSettingsGroup: OperationDialect = {
  answer: withUnset,
  reply: value => (isJsonBody(value) ? replaceUnset(value, '', null) : value)
}
