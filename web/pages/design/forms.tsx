import CircleCheck from "lucide-react/icons/circle-check";
import LinkIcon from "lucide-react/icons/link-2";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Section } from "../../ui/card.tsx";
import { Checkbox, RadioCards, Switch } from "../../ui/checkbox.tsx";
import { Chip } from "../../ui/chip.tsx";
import { Combobox, MultiCombobox } from "../../ui/combobox.tsx";
import { DateField } from "../../ui/date-field.tsx";
import { Details, DetailsList } from "../../ui/details.tsx";
import { Field, FieldSet } from "../../ui/field.tsx";
import { Input, InputGroup, PasswordInput, SearchInput, Textarea } from "../../ui/input.tsx";
import { Select } from "../../ui/select.tsx";
import { Exhibit } from "./exhibit.tsx";

const domains = [
  { value: "al.example", label: "al.example/" },
  { value: "go.alder.example", label: "go.alder.example/" },
];
const countries = ["Austria", "Denmark", "France", "Germany", "Italy", "Norway", "Switzerland"].map((name) => ({
  value: name,
  label: name,
}));

export function Forms() {
  return (
    <>
      <Exhibit title="Fields">
        <div className="grid items-start gap-4 sm:grid-cols-2">
          <Texts />
          <Pickers />
        </div>
      </Exhibit>
      <Exhibit title="Choices">
        <div className="grid items-start gap-4 sm:grid-cols-2">
          <Boxes />
          <Cards />
        </div>
      </Exhibit>
      <Section
        title="Workspace name"
        description="Shown to members and on pages for visitors."
        actions={<Button>Save</Button>}
      >
        <Field label="Name">
          <Input defaultValue="Alder Coffee" />
        </Field>
      </Section>
      <Section
        title="Delete workspace"
        description="All links stop working."
        danger
        actions={<Button variant="danger">Delete workspace</Button>}
      />
    </>
  );
}

function Texts() {
  const [slug, setSlug] = useState("winter");
  const [search, setSearch] = useState("");
  return (
    <div className="grid gap-4">
      <Field
        label="Destination"
        hint={
          <span className="flex items-center gap-1.5">
            <CircleCheck className="size-3.5 text-ok" />
            Responds in 142 ms. Page title: Winter collection
          </span>
        }
      >
        <Input icon={LinkIcon} type="url" defaultValue="https://shop.alder.example/collections/winter-2026" />
      </Field>
      <Field
        label="Short link"
        remark="Leave empty for a random code"
        error={slug === "winter" && "al.example/winter already exists. Choose another ending."}
        wayOut={
          <div className="flex flex-wrap items-center gap-1.5 text-12 text-text-3">
            Free:
            {["winter-26", "winter-shop", "winter-nov"].map((free) => (
              <Chip key={free} small onClick={() => setSlug(free)}>
                {free}
              </Chip>
            ))}
          </div>
        }
      >
        <InputGroup prefix={<Select look="segment" aria-label="Domain" options={domains} />}>
          <Input value={slug} onChange={(event) => setSlug(event.target.value)} />
        </InputGroup>
      </Field>
      <Field label="Hit limit" remark="plan maximum 10,000">
        <Input inputMode="numeric" defaultValue="5,000" suffix="a month" />
      </Field>
      <Field label="Prefix and suffix">
        <InputGroup prefix="https://" suffix=".example">
          <Input defaultValue="al" />
        </InputGroup>
      </Field>
      <Field label="Password" hint="At least 10 characters. A sentence works well.">
        <PasswordInput defaultValue="a sentence works" showLabel="Show password" hideLabel="Hide password" />
      </Field>
      <Field label="Disabled">
        <Input disabled defaultValue="Cannot be changed" />
      </Field>
      <Field label="API key">
        <Input mono readOnly value="ql_live_4f1c9b2e7a" />
      </Field>
      <SearchInput label="Search links" clearLabel="Clear search" kbd="/" value={search} onValueChange={setSearch} />
    </div>
  );
}

function Pickers() {
  const [expires, setExpires] = useState("2027-11-16T23:59");
  const [country, setCountry] = useState<string | null>("Germany");
  const [tags, setTags] = useState<readonly string[]>(["campaign", "cafés"]);
  const [known, setKnown] = useState(["campaign", "cafés", "email", "events", "hiring", "press", "product"]);
  return (
    <div className="grid gap-4">
      <Field label="Expires" remark="in one year">
        <DateField value={expires} onValueChange={setExpires} />
      </Field>
      <Field label="Plan">
        <Select
          options={[
            { value: "free", label: "Free" },
            { value: "team", label: "Team" },
          ]}
        />
      </Field>
      <Field label="Country">
        <Combobox
          value={country}
          onValueChange={setCountry}
          options={countries}
          emptyText="No country found."
          clearLabel="Clear country"
          openLabel="Show countries"
          placeholder="Any country"
        />
      </Field>
      <Field label="Tags" hint="Type a new name to create a tag.">
        <MultiCombobox
          values={tags}
          onValuesChange={setTags}
          options={known.map((tag) => ({ value: tag, label: tag, remark: String(tag.length) }))}
          emptyText="No tag found."
          removeLabel={(tag) => `Remove ${tag}`}
          createText={(query) => `Create “${query}”`}
          onCreate={(tag) => setKnown([...known, tag])}
        />
      </Field>
      <Field label="Countries" error="Choose at least one country.">
        <MultiCombobox
          values={[]}
          onValuesChange={() => {}}
          options={[]}
          loadingText="Searching…"
          emptyText="No country found."
          removeLabel={(name) => `Remove ${name}`}
          placeholder="Germany, Austria"
        />
      </Field>
      <Field label="Notes">
        <Textarea defaultValue="For the winter newsletter." />
      </Field>
      <DetailsList>
        <Details title="UTM parameters" summary="newsletter · email · winter-2026">
          <Field label="Source">
            <Input defaultValue="newsletter" />
          </Field>
        </Details>
        <Details title="Password, fallback address, tags" summary="None">
          <p>Nothing set.</p>
        </Details>
      </DetailsList>
    </div>
  );
}

function Boxes() {
  const [isOn, setOn] = useState(true);
  return (
    <div className="grid gap-4">
      <FieldSet legend="Notices" remark="by email" className="justify-items-start">
        <Checkbox label="A link reaches its limit" defaultChecked />
        <Checkbox label="A target stops answering" description="After three failed checks in a row." />
        <Checkbox label="Some of them" indeterminate />
        <Checkbox label="Not in this plan" disabled />
      </FieldSet>
      <Switch
        label="Weekly summary"
        description="Every Monday in the workspace's time zone."
        checked={isOn}
        onCheckedChange={setOn}
      />
      <Switch label="Count bots" />
      <Switch label="Not in this plan" disabled />
    </div>
  );
}

type Role = "admin" | "editor" | "viewer";

function Cards() {
  const [role, setRole] = useState<Role>("editor");
  return (
    <FieldSet legend="Role">
      <RadioCards
        label="Role"
        value={role}
        onValueChange={setRole}
        options={[
          { value: "admin", label: "Admin", description: "Manages members, domains and settings." },
          { value: "editor", label: "Editor", description: "Creates and edits links and files." },
          { value: "viewer", label: "Viewer", description: "Sees statistics.", disabled: true },
        ]}
      />
    </FieldSet>
  );
}
