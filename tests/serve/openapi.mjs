// openapi.mjs CALLS: checks recorded answers against the contract that came with them.
import {readFileSync} from 'node:fs'
import Ajv from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

const {contract, calls} = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const ajv = new Ajv({strict: false, allErrors: true})
formats(ajv)
ajv.addSchema(contract, 'contract')

const resolve = node => node?.$ref ? node.$ref.split('/').slice(1).reduce((at, name) => at[name], contract) : node
const pointer = (...names) => 'contract#/' + names.map(name => name.replaceAll('~', '~0').replaceAll('/', '~1')).map(encodeURIComponent).join('/')

const problems = []
for (const call of calls) {
  const label = `${call.method} ${call.path} → ${call.status}`
  const operation = contract.paths[call.path]?.[call.method]
  const raw = operation?.responses[String(call.status)]
  const response = resolve(raw)
  if (!response) { problems.push(`${label}: the contract does not allow this status: ${call.body.slice(0, 300)}`); continue }
  if (!response.content) continue
  if (!response.content[call.type]) { problems.push(`${label}: ${call.type} is not in the contract`); continue }
  if (!call.type.endsWith('json')) continue
  const where = raw.$ref ? raw.$ref.split('/').slice(1) : ['paths', call.path, call.method, 'responses', String(call.status)]
  const validate = ajv.getSchema(pointer(...where, 'content', call.type, 'schema'))
  if (!validate(JSON.parse(call.body))) {
    problems.push(`${label}: ${ajv.errorsText(validate.errors).slice(0, 600)}\n  ${call.body.slice(0, 600)}`)
  }
}
if (problems.length > 0) {
  console.error(problems.join('\n'))
  process.exit(1)
}
