<?xml version="1.0"?>
<verbnet-framenetRoles_MappingData date="2026">
 <vncls class='35.9' fnframe='Checking'>
  <roles>
   <role fnrole='Checker' vnrole='Agent'/>
   <role fnrole='Matter' vnrole='Theme'/>
  </roles>
 </vncls>
</verbnet-framenetRoles_MappingData>
