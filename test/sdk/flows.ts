/** The same agentflow in both languages. */
export const invoiceInTypeScript = `import { agent, cel, defineAgentflow, inputs, liquid, step } from '@governed-context/service';

const order = inputs({
  type: 'object',
  properties: {
    text: { type: 'string' },
    lines: {
      type: 'array',
      items: { type: 'object', properties: { price: { type: 'number' } }, required: ['price'], additionalProperties: false },
    },
  },
  required: ['text', 'lines'],
  additionalProperties: false,
});
const reader = agent({
  _id: 'reader',
  title: 'Reader',
  next_agent: 'each',
  prompt: { template: liquid\`Read: \${order.text}\` },
  output_schema: {
    type: 'object',
    properties: { net: { type: 'number' }, tax: { type: 'number' } },
    required: ['net', 'tax'],
    additionalProperties: false,
  },
});
const each = step({ _id: 'each', type: 'map', items: order.lines, as: 'line', first: 'double', next: 'sum' });
const double = step({ _id: 'double', type: 'set', values: { twice: cel\`\${each.item.price} * \${2}\` } });
const sum = step({
  _id: 'sum',
  type: 'set',
  values: { total: cel\`\${reader.output.net} + \${reader.output.tax}\`, first: order.lines[0].price },
  next: 'size',
});
const size = step({ _id: 'size', type: 'branch', cases: [{ name: 'large', when: cel\`\${sum.output.total} > \${100}\`, next: 'last' }] });
const last = step({ _id: 'last', type: 'set', values: { size: size.output.case } });

export default defineAgentflow({ name: 'Invoice', input_schema: order, nodes: [reader, each, double, sum, size, last] });
`;

export const invoiceInPython = `from dataclasses import dataclass
from governed_context_service import agent, agentflow, cel, inputs, liquid, schema_of, step


@dataclass
class Line:
    price: float


@dataclass
class Order:
    text: str
    lines: list[Line]


@dataclass
class Invoice:
    net: float
    tax: float


order = inputs(Order)
reader = agent({"_id": "reader", "title": "Reader", "next_agent": "each", "prompt": {"template": liquid("Read: ", order.text)}}, Invoice)
each = step({"_id": "each", "type": "map", "items": cel(order.lines), "as": "line", "first": "double", "next": "sum"})
line = each.item(Line)
double = step({"_id": "double", "type": "set", "values": {"twice": cel(line.price, " * ", 2)}})
total = step({
    "_id": "sum",
    "type": "set",
    "values": {"total": cel(reader.output.net, " + ", reader.output.tax), "first": cel(order.lines[0].price)},
    "next": "size",
})
size = step({"_id": "size", "type": "branch", "cases": [{"name": "large", "when": cel(total.output.total, " > ", 100), "next": "last"}]})
last = step({"_id": "last", "type": "set", "values": {"size": cel(size.output.case)}})

flow = agentflow({"name": "Invoice"}, nodes=[reader, each, double, total, size, last], inputs=Order)
`;
